"""What a judge is shown, how its reply is read, and what the code derives from it: pure rules, no network."""
