// Restores what was typed in a form after the stored values may have changed.

/**
 * Applies the typed fields to the values that are stored now. A field that is typed as it was stored before (`base`)
 * was not changed by the user, so it has the value that is stored now.
 */
export function rebased<Fields extends object>(typed: Fields, base: Fields, stored: Fields): Fields {
  const fields = { ...stored };
  for (const name of Object.keys(typed) as (keyof Fields)[]) {
    if (JSON.stringify(typed[name]) !== JSON.stringify(base[name])) fields[name] = typed[name];
  }
  return fields;
}
