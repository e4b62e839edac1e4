// Restores typed input of a form after the stored values may have changed.

/**
 * Applies the changed fields to the current stored values. The user did not change a field that equals its previous
 * stored value (`base`), so that field gets the current stored value.
 */
export function rebased<Fields extends object>(typed: Fields, base: Fields, stored: Fields): Fields {
  const fields = { ...stored };
  for (const name of Object.keys(typed) as (keyof Fields)[]) {
    if (JSON.stringify(typed[name]) !== JSON.stringify(base[name])) fields[name] = typed[name];
  }
  return fields;
}
