"""What a bank does, one folder an activity, all of them on an `Engine`: one opened project.

    upkeep        looking after a bank: merging, pruning, repairing, re-embedding
    exchange      in and out of it
    graph         the memory graph
    runs, credit  what runs teach
    record        memories on their way in
    search        memories on their way out
    cache         what one process keeps of a project

Imports point down this list; import-linter sees to it.
"""
