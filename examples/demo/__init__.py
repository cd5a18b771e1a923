"""The demonstration: a small scripted agent fails at real tasks, learns from it, and passes them in other words.

There is no model in it, and no script that knows the answers: the agent knows several ways to go about each task, tries
the one it likes best, and what it recalls moves its preferences by the words that it shares with them.
"""
