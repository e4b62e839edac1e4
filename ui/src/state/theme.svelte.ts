// The look of the page in this browser, which is the color theme (light, dark or the system's) and the density of
// lists.

export type Theme = 'system' | 'light' | 'dark';
export type Density = 'normal' | 'compact';

const THEME = 'gatehouse.theme';
const DENSITY = 'gatehouse.density';

export const theme = $state<{ chosen: Theme; density: Density }>({
  chosen: stored(THEME, ['light', 'dark'], 'system'),
  density: stored(DENSITY, ['compact'], 'normal'),
});
apply();

export function choose(chosen: Theme): void {
  theme.chosen = chosen;
  store(THEME, chosen === 'system' ? null : chosen);
  apply();
}

export function chooseDensity(density: Density): void {
  theme.density = density;
  store(DENSITY, density === 'normal' ? null : density);
  apply();
}

/**
 * Returns the heights of a row in pixels, for lists that render only visible rows. The CSS properties are `--row-one`
 * and `--row-two`.
 */
export const rowHeights = (): { one: number; two: number } =>
  theme.density === 'compact' ? { one: 32, two: 56 } : { one: 44, two: 68 };

function stored<T extends string, O extends string>(key: string, allowed: readonly T[], otherwise: O): T | O {
  try {
    const value = localStorage.getItem(key);
    return allowed.find((one) => one === value) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function store(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Storage may be disabled. The choice then lasts until the page is closed.
  }
}

function apply(): void {
  const { dataset } = document.documentElement;
  if (theme.chosen === 'system') delete dataset.theme;
  else dataset.theme = theme.chosen;
  if (theme.density === 'normal') delete dataset.density;
  else dataset.density = theme.density;
}
