import Delivery

/// What whole runs are tested over: every test that names no transport of its own runs over each of these.
let testedTransports: [Transport] = Transport.allCases
