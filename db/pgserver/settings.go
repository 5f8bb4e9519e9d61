package pgserver

import (
	"maps"
	"slices"
)

// settings fit two cores, 4 GiB of memory and this product's work: bulk writes
// in short transactions beside small reads.
var settings = map[string]string{
	"listen_addresses":        "", // the socket only
	"unix_socket_permissions": "0700",
	"max_connections":         "200",

	// Durable: what was answered with 202 survives a power cut.
	"fsync":              "on",
	"synchronous_commit": "on",
	"full_page_writes":   "on",

	// Nobody replicates from it, so its log holds only what recovery needs.
	"wal_level":          "minimal",
	"max_wal_senders":    "0",
	"wal_compression":    "on",
	"max_wal_size":       "4GB",
	"checkpoint_timeout": "15min",

	"shared_buffers":       "256MB",
	"effective_cache_size": "1GB",
	"maintenance_work_mem": "128MB",
	"work_mem":             "16MB",
	"random_page_cost":     "1.1", // a disk that does not seek

	// Short statements: planning for parallel workers or compiled code costs
	// more than it gives, and takes cores from the calls.
	"max_parallel_workers_per_gather": "0",
	"jit":                             "off",

	// The ledger's rows change several times within seconds. Come soon, in
	// small bites.
	"autovacuum":                   "on",
	"autovacuum_max_workers":       "2",
	"autovacuum_naptime":           "15s",
	"autovacuum_vacuum_cost_limit": "1000",
	"autovacuum_vacuum_cost_delay": "2ms",

	"timezone":          "UTC",
	"log_timezone":      "UTC",
	"logging_collector": "off",
	"log_checkpoints":   "off",
	"log_line_prefix":   "%m [%p] ",
}

// serverArgs are the program's arguments, in a fixed order.
func serverArgs(data, run string, over map[string]string) []string {
	all := maps.Clone(settings)
	all["unix_socket_directories"] = run
	maps.Copy(all, over)
	args := []string{"-D", data}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		args = append(args, "-c", name+"="+all[name])
	}
	return args
}
