"""Numbered scripts, each short, each run by a test."""
