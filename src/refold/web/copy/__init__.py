"""A copy of the pages as files: `refold agentpedia export-site`.

It stands in `web`, not beside the pages: what is copied is what the whole application answers, home
page, style and front of the part included, and only `web` puts that together. Links are rewritten
in the answers, not where templates write them: texts, feeds and a few fixed paths name addresses of
ours without `here.to`, and what is not rewritten would be a dead link. Source: issue 11.
"""
