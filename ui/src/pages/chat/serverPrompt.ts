// Prompts of MCP servers in the suggestions of the message input.
import type { Result } from '../../client/rpc';

export type OfferedPrompt = Result<'mcp.prompts'>['prompts'][number];

/** Returns the second line of a suggestion. */
export const hintOf = ({ server, description }: OfferedPrompt): string =>
  description ? `${server}: ${description}` : server;

/** The values of the arguments without those that were left empty. */
export const given = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ''));

/** The draft, with a filled-in prompt inserted before its current text. */
export const draftWith = (text: string, draft: string): string => (draft.trim() === '' ? text : `${text}\n\n${draft}`);
