newtop: warning: sparse.jsonl: nothing there yet, waiting
