"""Judges: how a question of a rubric is put to one, how its word is read, and what is kept of it.

A judge is any function from a prompt to a reply: a command, a model behind an API, an agent CLI. Everything else is the
same for all of them: what is shown of a rep (`shown`), how it is asked (`prompt`), what counts as an answer (`answer`),
how votes make a judgement (`voting`), and whether it may decide (`standing`).
"""
