"""The block in which lessons reach a model: framed, escaped, within a budget of tokens.

Imported from: `block` (Lesson, LessonBlock, lesson_block), `tokens`.
"""
