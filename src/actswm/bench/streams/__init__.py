"""Streams with a known truth, cut together from real captures of the games that are here."""
