"""The only event loop: every case, arm and trial, to run files."""
