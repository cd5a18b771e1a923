"""From finished runs to lessons: reading, judging, distilling, and the queue."""
