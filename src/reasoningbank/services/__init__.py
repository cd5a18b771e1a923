"""What a bank does, one module an activity. All of them work on an `Engine`: one opened project."""
