"""A local chain with an indexer that misbehaves as the real ones do, for tests and for play.

`refold.metaid.devnet.net.Devnet` is all of it as one object; `serve` puts it on HTTP. Inside:

* the chain: `rules` say which transactions a node takes, `mempool` keeps them, `ordering` and
  `chain` put them into blocks, `reorg` replaces blocks by others, `truth` reads what is there;
* the indexer: `indexer` reads blocks into `tables`, `listing`, `modify` and `files` find pins,
  `rows` writes them down, `quirks` say how wrongly;
* the wallet: `purse` has throw-away keys, worth nothing; `play` lets a story happen;
* the server: `app` puts together `man_routes`, `v1_routes`, `file_routes`, `node_routes` and
  `admin_routes`, `faulty` breaks answers as `faults` cast, `remote` gives orders from elsewhere.

Everything lives in one SQLite file of one process (`store`).
"""
