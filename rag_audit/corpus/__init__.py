"""The project's side of an evaluation: its questions, documents, chunks, indexes, and what is retrieved from them."""
