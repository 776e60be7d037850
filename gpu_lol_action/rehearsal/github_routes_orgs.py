"""Teams of the stand-in's organization: who is an active member of which."""

from __future__ import annotations

from gpu_lol_action.rehearsal.github_answers import Answer, Call, Route, not_found, refuse


def _get_membership(call: Call) -> Answer:
    """GitHub tells members only to tokens that may read them, which no workflow's own token may."""
    granted = call.token.permissions
    if granted is not None and granted.get("members", "none") == "none":
        raise refuse(403, "Resource not accessible by integration")
    team, login = call.path["team_slug"].lower(), call.path["username"].lower()
    state = call.world.teams.get(team, {}).get(login)
    if state is None:
        raise not_found()
    url = f"{call.world.api_url}/organizations/1/team/1/memberships/{login}"
    return Answer(200, {"url": url, "role": "member", "state": state})


ORG_ROUTES = {"GET /orgs/{org}/teams/{team_slug}/memberships/{username}": Route(_get_membership)}
