#!/usr/bin/env ruby
# run_ruby_pg.rb CASES [typed] - tests/drivers.sh runs it; typed: with ruby-pg's map of types, as
# Sequel and Rails use it
require "bigdecimal"
require "date"
require "json"
require "pg"
require "time"

REFUSED = "SELECT prescient.enqueue('', '', '', '')"
SAME = ->(text) { text }
TYPED = ARGV[1] == "typed"
JSON_OF = TYPED ? ->(text) { JSON.parse(text) } : SAME
KINDS = {
  "smallint" => ->(text) { Integer(text) }, "int" => ->(text) { Integer(text) },
  "bigint" => ->(text) { Integer(text) }, "text" => SAME, "uuid" => SAME,
  "timestamptz" => ->(text) { Time.iso8601(text) }, "date" => ->(text) { Date.iso8601(text) },
  "json" => JSON_OF, "jsonb" => JSON_OF
}.freeze

def value_of(param)
  kind, text = param.split("=", 2)
  return KINDS.fetch(kind).call(text) unless kind.end_with?("[]")

  return text.split("|") if kind.start_with?("json") && TYPED     # it has no array of hashes

  values = text.split("|").map(&KINDS.fetch(kind[0..-3]))
  TYPED ? values : PG::TextEncoder::Array.new.encode(values.map(&:to_s))
end

class Undone < StandardError; end

def run_case(db, flow, statement, params)
  found = nil
  db.transaction do
    if flow == "savepoint"
      db.exec("SAVEPOINT before")
      begin
        db.exec(REFUSED)
      rescue PG::DataException
        db.exec("ROLLBACK TO SAVEPOINT before")
      end
    end
    found = db.exec_params(statement, params).getvalue(0, 0)
    raise Undone if flow == "rollback"
  end
  found
rescue Undone
  found
end

db = PG.connect
db.type_map_for_queries = PG::BasicTypeMapForQueries.new(db) if TYPED
File.foreach(ARGV[0], encoding: "UTF-8", chomp: true) do |line|
  name, flow, statement, *params = line.split("\t")
  begin
    puts "#{name}\t#{run_case(db, flow, statement, params.map { |param| value_of(param) })}"
  rescue PG::Error => error
    state = error.result ? error.result.error_field(PG::PG_DIAG_SQLSTATE) : "driver"
    puts "#{name}\terror\t#{state}\t#{error.message.split.join(' ')}"
  end
end
