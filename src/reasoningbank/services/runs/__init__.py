"""From runs to lessons: distilling at once, the worker of the queue, the runs that are kept."""
