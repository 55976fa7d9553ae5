"""The HTTP server as several processes: readers answer requests, one writer writes, the first process looks after them.

supervisor        accepts connections and hands them to readers; starts processes, and again if one ends; stops them
hub               what the processes share and one must decide: writes and their keys, counts of requests
child             a process: `reader` answers requests, `writer` carries out all writes, in groups
shared_counts     open connections and requests of all readers, in shared memory
process_messages  messages between the processes

May import: errors, memory, model, serve.memory_access, serve.rest, serve.write_queue.
"""
