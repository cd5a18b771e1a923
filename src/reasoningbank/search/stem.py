"""The English stemmer of the keyword leg: PyStemmer's, which those who define the algorithm make.

Source: M. F. Porter, "The English (Porter2) stemming algorithm", snowballstem.org.
"""

from __future__ import annotations

from Stemmer import Stemmer


def stem(word: str) -> str:
    """Return the stem of a lower-case English word; a word that holds anything but a to z comes back as it is."""
    if not (word.isascii() and word.isalpha()):
        return word
    # A stemmer has a state that threads must not share: a new one costs 0.3 µs, no more than a lock, and stands forks.
    stemmed: str = Stemmer("english", 0).stemWord(word)
    return stemmed
