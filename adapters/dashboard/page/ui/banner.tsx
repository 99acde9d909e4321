/** Whether the page is up to date, and if not, what is being done about it. */
import type { LinkState } from "../net/sseLink.ts";

interface BannerProps {
  readonly link: LinkState;
  readonly problem: string | undefined;
  readonly tokenWanted: boolean;
  readonly onRetry: () => void;
}

export function Banner({ link, problem, tokenWanted, onRetry }: BannerProps) {
  // The token form says it.
  if (tokenWanted) return null;
  switch (link.kind) {
    case "connecting":
    case "closed":
      return null;
    case "live":
      return problem === undefined ? null : (
        <div class="banner" role="alert">
          <p>The agents cannot be listed: {problem}. Trying again…</p>
        </div>
      );
    case "lost":
      return (
        <div class="banner" role="alert">
          <p>Connection lost: {link.message}. What you see may be out of date. Reconnecting…</p>
          <button type="button" class="button" onClick={onRetry}>
            Try now
          </button>
        </div>
      );
    case "refused":
      return (
        <div class="banner" role="alert">
          <p>Not connected: {link.message}.</p>
          <button type="button" class="button" onClick={onRetry}>
            Try again
          </button>
        </div>
      );
  }
}
