"""Answers: tables with error bars, their cells, exports and pictures."""
