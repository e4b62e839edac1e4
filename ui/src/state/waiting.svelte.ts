// The number of tool calls that wait for the user's approval. Shown in the navigation, in the document title and on the
// app's icon.
import type { EventParams } from '../client/rpc';

export type Approval = EventParams<'approval.requested'>;

export const waiting = $state<{ count: number }>({ count: 0 });
