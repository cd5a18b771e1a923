"""What a text must not carry on its way in: secrets (`scrub`) and planted instructions (`guard`).

Both are tables of rules behind one prefilter. Imported from: `screening.scrub` (scrub), `screening.guard` (inspect) and
`screening.prefilter` (look), so that one look at a lesson serves both.
"""
