"""Rehearsals: the real CLI against a scripted model server, which speaks the vendors' protocols on loopback.

Imports nothing: the first two reps of a run load the modules at once, each from a thread of its own.
"""
