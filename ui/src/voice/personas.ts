// The query for all personas. Fetches every page.
import { keys } from '../client/keys';
import { rpc, type Result } from '../client/rpc';

export type Personas = Result<'voice.personas.list'>;
export type Persona = Personas['personas'][number];

export const personasQuery = () => ({
  queryKey: keys.personas,
  queryFn: async (): Promise<Personas> => {
    const all = await rpc('voice.personas.list');
    let cursor = all.next_cursor;
    while (cursor) {
      const more = await rpc('voice.personas.list', { cursor });
      all.personas.push(...more.personas);
      cursor = more.next_cursor;
    }
    return all;
  },
});
