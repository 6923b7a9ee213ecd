"""The studio: a page to play with, and experiments for the browser."""
