// The query of an address, of an object: what is null, undefined or "" is left out.

export function queryOf(query) {
  const values = Object.entries(query ?? {})
    .filter(([, value]) => value !== undefined && value !== null && value !== "");

  return values.length > 0 ? `?${new URLSearchParams(values)}` : "";
}
