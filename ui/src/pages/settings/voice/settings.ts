// The voice settings with their origins and descriptions.
import type { SettingDescription } from '../../../client/generated/rpc';
import { keys } from '../../../client/keys';
import { rpc } from '../../../client/rpc';

export type Described = ReadonlyMap<string, SettingDescription>;

export interface Value {
  value: unknown;
  origin: string;
}
export type Values = ReadonlyMap<string, Value>;

export const settingsQuery = () => ({
  queryKey: [...keys.config, 'voice'],
  queryFn: async (): Promise<Values> => {
    const { values } = await rpc('config.get', { keys: ['voice'] });
    return new Map(values.map(({ key, value, origin }) => [key, { value, origin }]));
  },
});

export const describedQuery = () => ({
  queryKey: [...keys.config, 'voice', 'described'],
  queryFn: async (): Promise<Described> => {
    const { settings } = await rpc('config.describe', { keys: ['voice'] });
    return new Map(settings.map((one) => [one.key, one]));
  },
});

/** An example for a text input. */
export function exampleOf(described: Described | undefined, key: string): string | undefined {
  const example = described?.get(key)?.example;
  return typeof example === 'string' ? example : undefined;
}

/** A setting as text for an input. */
export const asText = (value: Value | undefined): string =>
  value?.value === null || value?.value === undefined ? '' : String(value.value);

/** Returns the entries of a list without repetitions, which the gateway ignores too. */
export const asList = (value: Value | undefined): string[] =>
  Array.isArray(value?.value) ? [...new Set(value.value.map(String))] : [];
