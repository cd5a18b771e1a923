"""How texts are found and put in order: terms, keyword scores, fusion, the gate, ranking, the choice of k.

Pure functions of arrays and frozen values; what reads rows for them is in `services.search`.
"""
