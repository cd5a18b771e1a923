"""What runs teach: verdicts and votes, lessons distilled from runs, links between what was used together."""
