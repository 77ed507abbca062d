"""What to look at in each section of the report, in one sentence."""

LOOK_AT = {
    "summary": "Look at the verdicts first, then whether an action-sensitive model also plans and recovers better.",
    "drift": "Look for lines that part: only an action-sensitive model expects another future under other actions.",
    "fidelity": "Look at F against one half: above it, a prediction is nearer to what its own actions truly lead to.",
    "sheets": "Compare what each model expects with what happens, row by row: other actions should show another place.",
    "planning": "Look at how many episodes succeed, then play the films of one episode side by side.",
    "recovery": "Look at balanced accuracy: one half is guessing; a model that ignores its actions stays close to it.",
    "data": "Look whether the frames are what you meant to record.",
    "training": "Look whether validation still falls at the end: a model that still learns deserves more steps.",
}
