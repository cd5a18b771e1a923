"""What an agent's run is: its steps, read from any framework's messages.

Imported from: `trajectory` (Trajectory, Step); `transcript` and `boilerplate` serve it and distilling.
"""
