"""The pages: each a function from what was asked to an answer, on the bank's public calls only."""
