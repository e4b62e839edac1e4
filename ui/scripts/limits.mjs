// The bounds of the methods' parameters in docs/generated/openrpc.json, as constants.

const BOUNDS = {
  minimum: 'MIN',
  maximum: 'MAX',
  minLength: 'MIN_LENGTH',
  maxLength: 'MAX_LENGTH',
  minItems: 'MIN_ITEMS',
  maxItems: 'MAX_ITEMS',
};

/** `webhooks.stats` is WEBHOOKS_STATS, and `ScheduleInput` SCHEDULE_INPUT. */
const constant = (name) =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toUpperCase();

/**
 * Names and values, sorted: `WEBHOOKS_STATS_HOURS_MAX` for a parameter, `SCHEDULE_INPUT_EVERY_SECONDS_MAX` for a property of
 * a schema that a parameter uses. `LIST_LIMIT_MAX` is the size of a page that every paginated method allows.
 */
export function limitsOf(document) {
  const found = new Map();
  const seen = new Set();
  const note = (name, value) => {
    if (found.has(name) && found.get(name) !== value) throw new Error(`${name} has two values`);
    found.set(name, value);
  };

  function walk(schema, path) {
    if (typeof schema !== 'object' || schema === null) return;
    for (const [word, suffix] of Object.entries(BOUNDS)) {
      if (typeof schema[word] === 'number') note(constant(`${path}_${suffix}`), schema[word]);
    }
    for (const part of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) walk(part, path);
    for (const [name, property] of Object.entries(schema.properties ?? {})) walk(property, `${path}_${name}`);
    walk(schema.items, `${path}_item`);
    const name = schema.$ref?.split('/').at(-1);
    if (!name || seen.has(name)) return;
    seen.add(name);
    walk(document.components.schemas[name], name);
  }

  const pages = [];
  for (const { name: method, params } of document.methods) {
    const isPaginated = params.some(({ name }) => name === 'cursor');
    for (const { name, schema } of params) {
      if (isPaginated && name === 'limit') pages.push(schema.maximum);
      else walk(schema, `${method}_${name}`);
    }
  }
  if (pages.length > 0) note('LIST_LIMIT_MAX', Math.min(...pages));
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** The constants as the text of a module. */
export const limitTable = (document) =>
  limitsOf(document)
    .map(([name, value]) => `export const ${name} = ${value};\n`)
    .join('');
