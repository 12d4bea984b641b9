"""What every part's api.py and pages.py stand on: routes as data, lists, problems, pages, tools.

    operation   get, post, page: what a handler is for, takes and gives; `operations(api)`
    asked       ListAsked and the strict reading of path and query; cursor, call: walking a list
    answers     Page, Answer, View, Lines: what a handler gives, with ETag, Link and Cache-Control
    codes       what is said, and with which status, when an error of refold is raised
    reading     a database from handlers: in the event loop, or in a thread
    part        everything that a part gives to the server, as one value
    tools       tools for agents, and the fence around what strangers wrote
    application, server   parts put together, and served; `refold.web` and the command line use them

Import from the modules: this package stays light for the command line, which reads `settings`.
"""
