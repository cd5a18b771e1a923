"""The lines in which memories and runs leave a bank and come into another.

Imported from: `memories`, `runs`; files of other systems are read in `formats`.
"""
