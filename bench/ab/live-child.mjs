// node live-child.mjs <folder of a build> <arguments of live/child.mjs>: a live workload with that build.
process.env.RESQLITE_BENCH_PACKAGE = process.argv.splice(2, 1)[0]
await import('../live/child.mjs')
