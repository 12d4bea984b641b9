"""The reading side of the encyclopedia: questions over the stored view, and their answers as data.

    hidings = Hidings()
    with database.read(seconds=0.5) as connection:
        entry = entry_of(Look(connection, hidings), "en:tides")

    look        one look at one state of the database, and what the operator hides in it
    questions   statements made once, for what is asked at every request
    entry, lists, history, graph, people, rulings, records, searching, judging, export
    drawnhistory, docket, challenges, casting, cases, editorpage, reputation: for pages
    model       what they give, as Structs: the API sends them as they are, pages show them

Nothing here knows HTTP, and nothing writes. Import from the modules.
"""
