import ArgumentParser
import VolleyKit

@main
struct Volley: ParsableCommand {}
