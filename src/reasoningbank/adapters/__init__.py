"""What every door and integration shares: tools for models, who reports a run's end, requests in any shape.

Imported from: `tools`, `outcomes`, `run_tree`, `request`, `coercion`; nothing in it knows a framework.
"""
