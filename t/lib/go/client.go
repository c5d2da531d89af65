// A client with go-oidc and x/oauth2, as the example of go-oidc begins.
//
// Lines as t/lib/SvcTest/Party.pm has them; the first one: { "issuer", "email", "sub",
// "clients": { name: { "clientId", "clientSecret", "redirect" } } }

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"

	oidc "github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

type client struct {
	ID       string `json:"clientId"`
	Secret   string `json:"clientSecret"`
	Redirect string `json:"redirect"`
}

type user struct {
	Sub   string `json:"sub"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

var lines = bufio.NewReader(os.Stdin)

func hear(what interface{}) error {
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, what)
}

func say(what map[string]interface{}) {
	text, _ := json.Marshal(what)
	fmt.Println(string(text))
}

func visited(to string) (url.Values, error) {
	var answer struct {
		URL string `json:"url"`
	}
	say(map[string]interface{}{"ask": "visit", "what": to})
	if err := hear(&answer); err != nil {
		return nil, err
	}
	back, err := url.Parse(answer.URL)
	if err != nil {
		return nil, err
	}
	return back.Query(), nil
}

func attempt(name string, f func() error) {
	why := ""
	err := f()
	if err != nil {
		why = err.Error()
	}
	say(map[string]interface{}{"name": name, "ok": err == nil, "why": why})
}

func same(got, want user) error {
	if got != want {
		return fmt.Errorf("%v and not %v", got, want)
	}
	return nil
}

func signIn(issuer string, app client, want user) error {
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return err
	}
	config := oauth2.Config{
		ClientID: app.ID, ClientSecret: app.Secret, Endpoint: provider.Endpoint(),
		RedirectURL: app.Redirect, Scopes: []string{oidc.ScopeOpenID, "profile", "email"},
	}
	back, err := visited(config.AuthCodeURL("a state"))
	if err != nil {
		return err
	}
	if back.Get("state") != "a state" {
		return fmt.Errorf("state did not match: %v", back)
	}
	token, err := config.Exchange(ctx, back.Get("code"))
	if err != nil {
		return err
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := provider.Verifier(&oidc.Config{ClientID: app.ID}).Verify(ctx, raw)
	if err != nil {
		return err
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return err
	}
	var got user
	if err := info.Claims(&got); err != nil {
		return err
	}
	if idToken.Subject != want.Sub {
		return fmt.Errorf("another subject: %s", idToken.Subject)
	}
	return same(got, want)
}

func main() {
	var given struct {
		Issuer  string            `json:"issuer"`
		Email   string            `json:"email"`
		Sub     string            `json:"sub"`
		Clients map[string]client `json:"clients"`
	}
	if err := hear(&given); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	attempt("go-oidc: a user signs in, userinfo has name and address", func() error {
		return signIn(given.Issuer, given.Clients["go-oidc"],
			user{given.Sub, given.Email, "Ada Lovelace"})
	})
}
