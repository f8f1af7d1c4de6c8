"""The command line: thin commands over the core.

Heavy modules are imported inside the commands that need them, so that ``systems`` stays fast.
"""
