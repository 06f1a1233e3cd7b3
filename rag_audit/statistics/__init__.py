"""Intervals, paired tests, agreement and judge-corrected estimates: pure functions, numpy loaded when one is called."""
