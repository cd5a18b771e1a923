"""Hooks of coding agents: what a client tells, what is answered, and the configuration that connects both."""
