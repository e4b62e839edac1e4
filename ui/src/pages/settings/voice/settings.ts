// The settings of voice: their values and where each comes from, and how they are changed.
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

/** Changes a setting; null returns to what the file says. */
export const setSetting = (key: string, value: unknown) => rpc('config.set', { key, value: value });

/** Whether it was given when the gateway was started, so that it cannot be changed here. */
export const isFixed = (value: Value | undefined): boolean =>
  value?.origin === 'environment' || value?.origin === 'command_line';

/** A setting as it stands in a field. */
export const asText = (value: Value | undefined): string =>
  value?.value === null || value?.value === undefined ? '' : String(value.value);

export const asList = (value: Value | undefined): string[] =>
  Array.isArray(value?.value) ? value.value.map(String) : [];
