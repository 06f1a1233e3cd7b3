"""Other tools' results as runs: one module a format, one row record, one balance, one registry.

read_file (registry)    which format a file is, by its content, and the runs in it
plan_run (assemble)     first reading: every entry is a row or left out with a reason; ids, content hash
results_of (assemble)   second reading: one QuestionResult a row
import_paths (importing) files and folders into the history
"""
