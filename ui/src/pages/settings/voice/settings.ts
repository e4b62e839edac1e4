// The query for the voice settings with their origins.
import { keys } from '../../../client/keys';
import { rpc } from '../../../client/rpc';

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

/** A setting as text for an input. */
export const asText = (value: Value | undefined): string =>
  value?.value === null || value?.value === undefined ? '' : String(value.value);

export const asList = (value: Value | undefined): string[] =>
  Array.isArray(value?.value) ? value.value.map(String) : [];
