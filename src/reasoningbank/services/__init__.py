"""What a bank does, one module an activity, all of them on an `Engine`: one opened project.

    maintenance   looking after a bank: merging, pruning, repairing, re-embedding
    moving        in and out of it
    graphs        the memory graph
    learning      what runs teach
    writing       memories on their way in
    finding       memories on their way out
    engine        an opened project
    kept          what one process keeps of it

Imports point down this list; import-linter sees to it.
"""
