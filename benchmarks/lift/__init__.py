"""Whether `lift` says the truth about lessons, where the truth is known."""
