// The query for the known senders and the authentication modes, which change only with the gateway's version.
import { keys } from '../../client/keys';
import { rpc, type Result } from '../../client/rpc';
import { textsOf } from '../../phrases/texts';

/** The known senders, described in the language of the page. */
export async function loadProfiles(): Promise<Result<'webhooks.profiles'>> {
  const [found, text] = await Promise.all([rpc('webhooks.profiles'), textsOf('senders')]);
  const lines = (guide: string) => guide.replaceAll(/^(\d+\.\s+)?(.+)$/gm, (_, at = '', line = '') => at + text(line));
  const described = <E extends { description: string }>(event: E): E => ({
    ...event,
    description: text(event.description),
  });
  return {
    ...found,
    profiles: found.profiles.map((profile) => ({
      ...profile,
      about: text(profile.about),
      events: profile.events.map(described),
      more_events: profile.more_events.map(described),
      guide: lines(profile.guide),
      replay_note: text(profile.replay_note),
    })),
  };
}

export const profilesQuery = {
  queryKey: keys.profiles,
  queryFn: loadProfiles,
  staleTime: Infinity,
} as const;
